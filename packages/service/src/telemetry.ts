import { register } from 'node:module';

/**
 * Starts OpenTelemetry where an exporter is configured, and does nothing otherwise. Load it before everything else
 * (`node --import @ecf/service/telemetry …`): what is loaded earlier is not instrumented.
 */
function isConfigured(env: NodeJS.ProcessEnv): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return false;
  return [env.OTEL_TRACES_EXPORTER, env.OTEL_EXPORTER_OTLP_ENDPOINT, env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT].some(
    (value) => value !== undefined && value !== '',
  );
}

if (isConfigured(process.env)) {
  // First of all: the hook that makes ES modules instrumentable sees only what is imported after it.
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url);
  const { startTelemetry } = await import('./telemetry-sdk.js');
  startTelemetry();
}
