/** Sets the clock of this process ahead by `ms`, as an operating system with a wrong time would; returns how to end that. */
export function setProcessClockAhead(ms: number): () => void {
  const RealDate = Date;
  class WrongDate extends RealDate {
    constructor(...parts: [] | [number | string | Date]) {
      if (parts.length === 0) super(RealDate.now() + ms);
      else super(...parts);
    }
    static override now(): number {
      return RealDate.now() + ms;
    }
  }
  globalThis.Date = WrongDate as DateConstructor;
  return () => {
    globalThis.Date = RealDate;
  };
}
