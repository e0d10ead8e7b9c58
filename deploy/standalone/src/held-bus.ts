import type { Bus } from '@ecf/bus';

/** A bus that publishes nothing until it is opened. */
export interface HeldBus extends Bus {
  open(): void;
  /** Ends the hold without publishing: publishers that wait keep their events. */
  refuse(reason: unknown): void;
}

/**
 * Services consume each other's events in circles, so none can start last. An early event would miss services that have not
 * subscribed yet. Therefore events wait in their outboxes until all services have subscribed.
 */
export function holdBack(bus: Bus): HeldBus {
  let open: () => void = () => undefined;
  let refuse: (reason: unknown) => void = () => undefined;
  const opened = new Promise<void>((resolve, reject) => {
    open = resolve;
    refuse = reject;
  });
  opened.catch(() => undefined);
  return {
    async publish(batch) {
      await opened;
      await bus.publish(batch);
    },
    subscribe: (options) => bus.subscribe(options),
    close: () => bus.close(),
    open,
    refuse,
  };
}
