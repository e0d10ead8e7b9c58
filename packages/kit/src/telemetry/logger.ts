import { isSpanContextValid, trace } from '@opentelemetry/api';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import { redact, redactText } from '../redaction.js';

export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'> & {
  child(bindings: Record<string, unknown>): Logger;
};

export interface LoggerOptions {
  service: string;
  level?: string;
  destination?: DestinationStream;
}

/**
 * Structured logs, one JSON object per line on standard output, with `trace_id` and `span_id` of the active span.
 * Values under names like key, token, password or certificate are replaced, and so are secrets inside text.
 */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: { service: options.service },
    messageKey: 'msg',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => redact(fields) as Record<string, unknown>,
      bindings: (fields: Record<string, unknown>) => redact(fields) as Record<string, unknown>,
    },
    serializers: { err: (error: unknown) => error },
    mixin: traceIds,
    hooks: {
      logMethod(this: PinoLogger, args: Parameters<PinoLogger['info']>, method: (...args: unknown[]) => void) {
        method.apply(
          this,
          args.map((arg) => (typeof arg === 'string' ? redactText(arg) : arg)),
        );
      },
    },
  };
  const logger = options.destination === undefined ? pino(settings) : pino(settings, options.destination);
  const { child } = logger;
  // pino does not call its formatter of bindings for child loggers; they inherit this one.
  logger.child = function redactedChild(this: PinoLogger, bindings: Record<string, unknown>) {
    return child.call(this, redact(bindings) as Record<string, unknown>);
  } as typeof child;
  return logger;
}

function traceIds(): Record<string, string> {
  const context = trace.getActiveSpan()?.spanContext();
  return context !== undefined && isSpanContextValid(context)
    ? { trace_id: context.traceId, span_id: context.spanId }
    : {};
}
