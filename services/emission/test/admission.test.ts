import { expect, it } from '@jest/globals';
import { createAdmission } from '../src/issue/admission.http.js';

it('refuses a submission above the most that may be in flight before it begins', async () => {
  const admission = createAdmission(2);
  let answer: (text: string) => void = () => undefined;
  const under = admission.run({ accountId: 'account-1' }, () => new Promise<string>((resolve) => (answer = resolve)));
  const other = admission.run({ accountId: 'account-2' }, () => new Promise<string>(() => undefined));
  let begun = false;
  const third = admission.run({ accountId: 'account-3' }, async () => (begun = true));
  await expect(third).rejects.toMatchObject({ code: 'overloaded', headers: { 'retry-after': '5' } });
  expect([begun, admission.inFlight()]).toEqual([false, 2]);
  answer('EnProceso');
  await under;
  expect(await admission.run({ accountId: 'account-3' }, async () => admission.inFlight())).toBe(2);
  void other;
});

it('refuses the submissions of one account above a quarter of those in flight, and no others', async () => {
  const admission = createAdmission(1_000);
  const answers: (() => void)[] = [];
  const begin = (accountId: string) =>
    admission.run({ accountId }, () => new Promise<void>((resolve) => answers.push(resolve)));
  const begun = Array.from({ length: 250 }, () => begin('account-1'));
  await expect(begin('account-1')).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '5' } });
  begun.push(begin('account-2'));
  expect(admission.inFlight()).toBe(251);
  answers[0]?.();
  await begun[0];
  begun.push(begin('account-1'));
  await expect(begin('account-1')).rejects.toMatchObject({ code: 'rate_limited' });
  for (const answer of answers) answer();
  await Promise.all(begun);
  expect(admission.inFlight()).toBe(0);
});

it('refuses the submissions of one API key above four fifths of the share of its account, and not those of another key', async () => {
  const admission = createAdmission(1_000);
  const answers: (() => void)[] = [];
  const begin = (keyId: string) =>
    admission.run({ accountId: 'account-1', keyId }, () => new Promise<void>((resolve) => answers.push(resolve)));
  const begun = Array.from({ length: 200 }, () => begin('key-1'));
  await expect(begin('key-1')).rejects.toMatchObject({ code: 'rate_limited', headers: { 'retry-after': '5' } });
  begun.push(begin('key-2'));
  answers[0]?.();
  await begun[0];
  begun.push(begin('key-1'));
  expect(admission.inFlight()).toBe(201);
  for (const answer of answers) answer();
  await Promise.all(begun);
});
