import type { Bus } from '@ecf/service-kit/bus';

/** A bus that publishes nothing until it is opened. */
export interface HeldBus extends Bus {
  open(): void;
  /** Ends the hold without publishing: waiting publishers keep their events. */
  refuse(reason: unknown): void;
}

/**
 * Services hear of each other in circles, so none can start last. What one of them published before another had subscribed
 * would pass that one by; so events wait in their outboxes until all are there.
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
