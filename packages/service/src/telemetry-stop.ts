/** Keeps the running telemetry, shared by copies of this package in one process. */
export const TELEMETRY = Symbol.for('ecf.telemetry');

/** Sends the spans that are still held and stops; does nothing if tracing is off. */
export async function stopTelemetry(): Promise<void> {
  const sdk = (globalThis as { [TELEMETRY]?: { shutdown(): Promise<void> } })[TELEMETRY];
  await sdk?.shutdown().catch(() => undefined);
}
