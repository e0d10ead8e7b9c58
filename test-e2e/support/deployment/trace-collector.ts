import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** An exported span, with the service that created it. */
export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  attributes: Record<string, string>;
  links: string[];
}

export interface TraceCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT, with OTEL_EXPORTER_OTLP_PROTOCOL `http/json`. */
  url: string;
  spansOf(traceId: string): CollectedSpan[];
  all(): CollectedSpan[];
  /** Everything received, as text. */
  text(): string;
  stop(): Promise<void>;
}

interface Exported {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes' | 'service' | 'links'> & RawSpan)[] }[];
  }[];
}
interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface RawSpan {
  attributes?: Attribute[];
  links?: { traceId: string }[];
}

/** Stands in for an OpenTelemetry collector: it takes OTLP as JSON over HTTP. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const server = http.createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const body = (req.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
      bodies.push(body);
      spans.push(...read(JSON.parse(body) as Exported));
      res.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spansOf: (traceId) => spans.filter((span) => span.traceId === traceId),
    all: () => spans,
    text: () => bodies.join('\n'),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function read({ resourceSpans }: Exported): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = attributesOf(resource.attributes)['service.name'] ?? '';
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ traceId, spanId, parentSpanId, name, attributes, links }) => ({
        service,
        traceId,
        spanId,
        parentSpanId: parentSpanId ?? '',
        name,
        attributes: attributesOf(attributes ?? []),
        links: (links ?? []).map((link) => link.traceId),
      })),
    );
  });
}

function attributesOf(attributes: readonly Attribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));
}
