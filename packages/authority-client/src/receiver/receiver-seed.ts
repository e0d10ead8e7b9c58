import type { Answer } from '../answers/answer.js';
import type { Seed } from '../answers/verdicts.js';
import { readSeed } from '../login/read-seed.js';
import { callReceiver, type ReceiverContext, type ReceiverInput } from './receiver-call.js';

/** Gets a seed from a receiver with an authentication address. */
export function receiverSeed(context: ReceiverContext, input: ReceiverInput): Promise<Answer<Seed>> {
  return callReceiver(
    context,
    input,
    {
      operation: 'receiverSeed',
      path: 'fe/autenticacion/api/semilla',
      accept: 'application/xml, text/xml;q=0.9, */*;q=0.5',
    },
    readSeed,
  );
}
