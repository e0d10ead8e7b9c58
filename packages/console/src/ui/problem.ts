import type { useTranslations } from 'use-intl';
import { GatewayError, isNoAnswer } from '../data/gateway.js';

type Words = ReturnType<typeof useTranslations<'state'>>;

/** What went wrong and what to do, in one sentence: in the console's words where it has some, else the gateway's. */
export function problemText(error: Error, words: Words): string {
  return wordsOf(error, words) ?? words('problem', { message: error.message });
}

/** The console's words for a failure, by the items that the gateway names or by the code; undefined without any. */
export function wordsOf(error: Error, words: Words): string | undefined {
  if (isNoAnswer(error)) return words('unreachable');
  if (!(error instanceof GatewayError)) return undefined;
  const keys = [...error.items.map(({ type }) => `reasons.${type}`), `problems.${error.code}`] as 'retry'[];
  const known = keys.find((key) => words.has(key));
  return known && words(known);
}
