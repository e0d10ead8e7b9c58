const BOM = /^\uFEFF/;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** An answer's body as text: by its charset, else UTF-8, else windows-1252 where it is not valid UTF-8. No BOM. */
export function decodeBody(bytes: Uint8Array, contentType: string | null): string {
  const charset = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  for (const label of [charset, 'utf-8']) {
    try {
      const decoder = label === 'utf-8' ? UTF_8 : new TextDecoder(label, { fatal: true });
      return decoder.decode(bytes).replace(BOM, '');
    } catch {
      // Unknown label or wrong bytes for it: the next one.
    }
  }
  return new TextDecoder('windows-1252').decode(bytes);
}

/** The longest pause that an answer can request: as long as our own longest pause. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Retry-After (seconds or a date) in milliseconds from `now`, an hour at most; null if absent or unreadable. A pause of
 * years would stop a document for good. RFC 9110, 10.2.3.
 */
export function retryAfterMs(header: string | null, now: Date): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, LONGEST_PAUSE_MS);
  const until = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(until) ? null : Math.min(Math.max(0, until - now.getTime()), LONGEST_PAUSE_MS);
}
