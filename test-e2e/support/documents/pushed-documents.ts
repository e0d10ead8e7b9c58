import type { DeploymentProcess } from '@ecf/test-servers/deployment';
import { createSender } from '../raw-request.js';
import { encf as encfOf } from './documents.js';
import { providedInvoice } from './provided-documents.js';

/** An e-CF that a provider sends to our public address, signed once. */
export interface PushedDocument {
  readonly encf: string;
  readonly xml: string;
}

/** Documents for one of our buyers, numbered from `first`. */
export function documentsToPush(count: number, first: number, buyerRnc: string): Promise<PushedDocument[]> {
  const numbers = Array.from({ length: count }, (_, index) => encfOf('31', first + index));
  return Promise.all(numbers.map(async (encf) => ({ encf, xml: await providedInvoice(encf, buyerRnc) })));
}

/**
 * Sends all documents, sixteen at a time; resolves with the acknowledgements by eNCF once each is answered or failed.
 *
 * @param onAnswer called after each answer with the number of answers
 */
export async function pushAll(
  { demo }: DeploymentProcess,
  documents: readonly PushedDocument[],
  onAnswer: (count: number) => void = () => undefined,
): Promise<Map<string, string>> {
  const sender = createSender(demo.base_url);
  const answers = new Map<string, string>();
  const push = async ({ encf, xml }: PushedDocument): Promise<void> => {
    const call = { method: 'POST', path: '/fe/recepcion/api/ecf', headers: [], body: Buffer.from(xml) };
    const answer = await sender.send(call).catch(() => null);
    if (answer === null) return;
    if (answer.status !== 200) throw new Error(`${encf}: ${answer.status} ${answer.body}`);
    answers.set(encf, answer.body.toString());
    onAnswer(answers.size);
  };
  try {
    await Promise.all(documents.map(push));
  } finally {
    sender.close();
  }
  return answers;
}
