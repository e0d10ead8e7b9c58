import type { AuditAct, AuditEntry } from '@ecf/contracts';
import { describe, expect, it } from '@jest/globals';
import { auditHash, createAuditCheck, nextAuditEntry } from '../src/audit-chain.js';
import { canonicalJson } from '../src/canonical-json.js';

const act = (action: string): AuditAct => ({
  at: '2026-06-23T17:45:47-04:00',
  actor: 'Ana',
  action,
  target: '/accounts/1',
  details: { name: 'Ferretería €', list: [1, { b: null, a: true }] },
  request_id: null,
});

function chainOf(length: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let index = 0; index < length; index += 1)
    entries.push(nextAuditEntry(act('account.update'), entries.at(-1) ?? null));
  return entries;
}

/** The first fault of a chain. */
function faultOf(entries: readonly unknown[]): string | null {
  const check = createAuditCheck();
  return entries.map((entry) => check.next(entry)).find((fault) => fault !== null) ?? null;
}

describe('canonical JSON', () => {
  // Source: RFC 8785 section 3.2.2 and 3.2.3.
  it('equals the examples of RFC 8785', () => {
    const value = {
      numbers: JSON.parse('[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001]'),
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const keys = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
    expect([...canonicalJson(keys).matchAll(/:(\d)/g)].map(([, number]) => Number(number))).toEqual([
      2, 4, 6, 7, 1, 5, 3,
    ]);
  });
});

describe('the chain of the audit log', () => {
  it('begins with 64 zeros, counts without gaps and covers every field', () => {
    const [first, second] = chainOf(2) as [AuditEntry, AuditEntry];
    expect(first).toMatchObject({
      seq: 1,
      previous_hash: '0'.repeat(64),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(second).toMatchObject({ seq: 2, previous_hash: first.hash });
    const { hash, ...rest } = first;
    expect(auditHash(rest)).toBe(hash);
    for (const name of Object.keys(rest)) expect(auditHash({ ...rest, [name]: 'x' })).not.toBe(hash);
  });

  it('is valid as written, also with its keys in another order', () => {
    const chain = chainOf(5);
    expect(faultOf(chain)).toBeNull();
    expect(faultOf(chain.map((entry) => Object.fromEntries(Object.entries(entry).reverse())))).toBeNull();
    expect(faultOf([])).toBeNull();
  });

  it('reveals a changed, a missing and a repeated entry', () => {
    const chain = chainOf(5);
    const [first, second, third, ...rest] = chain as [AuditEntry, AuditEntry, AuditEntry, ...AuditEntry[]];
    expect(faultOf([first, { ...second, actor: 'Eva' }, third, ...rest])).toBe('entry 2 was changed');
    expect(faultOf([first, third, ...rest])).toBe('entry 2 is missing');
    expect(faultOf([second, third, ...rest])).toBe('entry 1 is missing');
    expect(faultOf([first, second, second, third])).toBe('entry 2 is repeated');
    expect(faultOf([first, null])).toMatch(/^this is not an entry/);
    expect(faultOf([first, { ...second, extra: 1 }])).toMatch(/^this is not an entry/);
    // A changed entry with a hash of its own no longer leads to the next one.
    const { hash: _, ...changed } = { ...second, actor: 'Eva' };
    expect(faultOf([first, { ...changed, hash: auditHash(changed) }, third])).toBe(
      'entry 3 does not follow the entry before it',
    );
  });
});
