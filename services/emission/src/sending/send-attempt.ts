import type { Answer, AuthorityVerdict, SubmissionReceipt } from '@ecf/authority-client';
import { type Attempt, isBeingSent } from '../attempt/attempt.js';
import { afterReceipt, afterSummary } from '../attempt/authority-answers.js';
import { type AnswerPorts, exchange, moment, recordAnswer, reportOtherDocument } from '../attempt/record-transition.js';
import { tokenRefused } from '../attempt/transitions.js';
import { noteReach } from '../contingency/reach.js';
import type { TokenSource } from '../credentials/token-source.js';
import type { Ports } from '../ports.js';

export type SendPorts = AnswerPorts & Pick<Ports, 'authority' | 'contingency' | 'checkpoint'>;

/**
 * Sends the bytes of an attempt that was committed as `sending`, and stores the answer. If the authority refuses our
 * token, a new token and one more try follow, because nothing was taken.
 *
 * @param bytes exactly the stored document of the attempt's route
 * @param token obtained before the commit, so that a missing token consumes nothing
 */
export async function sendAttempt(
  ports: SendPorts,
  attempt: Attempt,
  bytes: Uint8Array,
  token: string,
  tokens: TokenSource,
): Promise<Attempt> {
  const exchanges = [];
  let answer = await transmit(ports, attempt, bytes, token);
  exchanges.push(exchange(operationOf(attempt), ports.clock(), answer));
  if (answer.outcome === 'unauthorized' && (await mayTryAgain(tokens, token))) {
    const renewed = await tokens.get().catch(() => null);
    if (renewed !== null) {
      answer = await transmit(ports, attempt, bytes, renewed);
      exchanges.push(exchange(operationOf(attempt), ports.clock(), answer));
    }
  }
  const sent = attempt.queuedAt ? await noteReach(ports, attempt, answer) : attempt;
  reportOtherDocument(ports, answer, attempt);
  await ports.checkpoint('sent');
  const after = await recordAnswer(ports, sent, (present) => decide(present, answer, tokens.given, ports), exchanges);
  ports.observer.submitted(after, answer.outcome);
  await ports.checkpoint('recorded');
  return after;
}

async function mayTryAgain(tokens: TokenSource, token: string): Promise<boolean> {
  return tokens.refused(token).catch(() => false);
}

type SendAnswer = Answer<SubmissionReceipt> | Answer<AuthorityVerdict>;

function transmit(ports: SendPorts, attempt: Attempt, xml: Uint8Array, token: string): Promise<SendAnswer> {
  const input = { env: attempt.env, token, issuerRnc: attempt.issuerRnc, encf: attempt.encf, xml };
  return attempt.route === 'ecf' ? ports.authority.submitDocument(input) : ports.authority.submitConsumerSummary(input);
}

function decide(present: Attempt, answer: SendAnswer, tokenGiven: boolean, ports: SendPorts): Attempt | null {
  const now = moment(ports);
  if (tokenGiven && answer.outcome === 'unauthorized' && isBeingSent(present)) return tokenRefused(present, now);
  return present.route === 'ecf'
    ? afterReceipt(present, answer as Answer<SubmissionReceipt>, now)
    : afterSummary(present, answer as Answer<AuthorityVerdict>, now);
}

function operationOf({ route }: Attempt): string {
  return route === 'ecf' ? 'submitDocument' : 'submitConsumerSummary';
}
