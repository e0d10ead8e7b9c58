/** Lets a loop wait until there is work. */
export interface Waker {
  /** Ends the present wait, or the next one if the loop is not waiting. */
  wake(): void;
  /** Resolves after a wake-up, or after `timeoutMs`. */
  woken(timeoutMs: number): Promise<void>;
}

/** For one loop: it waits at one place only. */
export function createWaker(): Waker {
  let isWoken = false;
  let end = () => {};
  return {
    wake() {
      isWoken = true;
      end();
    },
    async woken(timeoutMs) {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isWoken = false;
    },
  };
}
