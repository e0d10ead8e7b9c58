import type { Answer, AuthorityVerdict, SubmissionReceipt } from '@ecf/authority-client';
import { isUnanswered } from '@ecf/authority-client/answers';
import { type Attempt, isBeingSent } from '../attempt/attempt.js';
import { afterReceipt, afterSummary } from '../attempt/authority-answers.js';
import { exchange, reportOtherDocument } from '../attempt/recorder.js';
import { later, OVERDUE_MS, tokenRefused } from '../attempt/transitions.js';
import type { TokenSource } from '../credentials/token-source.js';
import type { SendingPorts } from './ports.js';

/**
 * Sends the bytes of an attempt that was committed as `sending`, and stores the answer. If the authority refuses our
 * token, it did not take the document, so it is sent once more with a new token.
 *
 * @param bytes exactly the stored document of the attempt's route
 * @param token obtained before the commit, so that a missing token uses no number
 */
export type SendAttempt = (attempt: Attempt, bytes: Uint8Array, token: string, tokens: TokenSource) => Promise<Attempt>;

export function createSendAttempt({
  recorder,
  authority,
  contingency,
  observer,
  clock,
  checkpoint,
}: SendingPorts): SendAttempt {
  /** Notes for the contingency queue whether its document reached the authority. The attempt has its deadline then. */
  async function noteReach(attempt: Attempt, answer: SendAnswer): Promise<Attempt> {
    if (isUnanswered(answer)) {
      await contingency.unreached(attempt);
      return attempt;
    }
    const returnedAt = await contingency.reached(attempt, clock());
    return attempt.deadline ? attempt : { ...attempt, deadline: later(returnedAt, OVERDUE_MS) };
  }

  function transmit({ env, issuerRnc, encf, route }: Attempt, xml: Uint8Array, token: string): Promise<SendAnswer> {
    const input = { env, token, issuerRnc, encf, xml };
    return route === 'ecf' ? authority.submitDocument(input) : authority.submitConsumerSummary(input);
  }

  function decide(present: Attempt, answer: SendAnswer, tokenGiven: boolean): Attempt | null {
    const now = recorder.timing();
    if (tokenGiven && answer.outcome === 'unauthorized' && isBeingSent(present)) return tokenRefused(present, now);
    return present.route === 'ecf'
      ? afterReceipt(present, answer as Answer<SubmissionReceipt>, now)
      : afterSummary(present, answer as Answer<AuthorityVerdict>, now);
  }

  return async (attempt, bytes, token, tokens) => {
    const operation = attempt.route === 'ecf' ? 'submitDocument' : 'submitConsumerSummary';
    let answer = await transmit(attempt, bytes, token);
    const exchanges = [exchange(operation, clock(), answer)];
    if (answer.outcome === 'unauthorized' && (await mayTryAgain(tokens, token))) {
      const renewed = await tokens.get().catch(() => null);
      if (renewed !== null) {
        answer = await transmit(attempt, bytes, renewed);
        exchanges.push(exchange(operation, clock(), answer));
      }
    }
    const sent = attempt.queuedAt ? await noteReach(attempt, answer) : attempt;
    reportOtherDocument(observer, answer, attempt);
    await checkpoint('sent');
    const after = await recorder.recordAnswer(sent, (present) => decide(present, answer, tokens.given), exchanges);
    observer.submitted(after, answer.outcome);
    await checkpoint('recorded');
    return after;
  };
}

async function mayTryAgain(tokens: TokenSource, token: string): Promise<boolean> {
  return tokens.refused(token).catch(() => false);
}

type SendAnswer = Answer<SubmissionReceipt> | Answer<AuthorityVerdict>;
