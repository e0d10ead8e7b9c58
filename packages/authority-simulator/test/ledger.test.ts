import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Journal } from '../src/ledger/journal.js';
import { Ledger } from '../src/ledger/ledger.js';
import { type NewSubmission, presentVerdict } from '../src/ledger/submission.js';
import { ACCEPTED, rejected } from '../src/verdicts/verdict.js';

const RNC = '131880738';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'simulator-ledger-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function entry(sequence: number, changes: Partial<NewSubmission> = {}): NewSubmission {
  const encf = `E31${String(sequence).padStart(10, '0')}`;
  return {
    operation: 'recepcion',
    env: 'TesteCF',
    rnc: RNC,
    buyer: null,
    encf,
    filename: `${RNC}${encf}.xml`,
    receivedAt: 1000,
    trackId: `track-${sequence}`,
    verdict: ACCEPTED,
    decidedAt: 1200,
    heldBy: null,
    effective: true,
    reference: null,
    annulled: null,
    ...changes,
  };
}

/** The ledger of the folder, new or after a crash: the former one was not closed. */
function reopened(): Ledger {
  const journal = new Journal(path.join(folder, 'journal.ndjson'));
  const ledger = new Ledger(journal);
  for (const [entry, place] of journal.entries()) ledger.replay(entry, place);
  return ledger;
}

describe('the ledger', () => {
  it('frees the numbers and approvals of a restarted set, keeps its documents, also after a crash', () => {
    const ledger = reopened();
    ledger.note(entry(1), Buffer.from('first'));
    ledger.note(entry(1, { env: 'eCF', trackId: 'production' }), Buffer.from('first'));
    ledger.note(entry(2, { operation: 'aprobacioncomercial', trackId: null }), Buffer.from('approval'));
    const annulled = [{ type: '31', from: 7, to: 9 }];
    ledger.note(entry(3, { operation: 'anulacionrangos', trackId: null, annulled }), Buffer.from('cancellation'));
    ledger.restart('TesteCF', RNC);
    ledger.note(entry(2, { trackId: 'second run' }), Buffer.from('second'));
    for (const each of [ledger, reopened()]) {
      expect(each.numbers.holder('TesteCF', RNC, 'E310000000001')).toBeNull();
      expect(each.numbers.isAnnulled('TesteCF', RNC, '31', 8)).toBe(false);
      expect(each.approvalOf('TesteCF', RNC, 'E310000000002')).toBeNull();
      expect(each.byTrackId('TesteCF', 'track-1')?.verdict).toEqual(ACCEPTED);
      expect(each.numbers.holder('TesteCF', RNC, 'E310000000002')?.trackId).toBe('second run');
      expect(each.numbers.holder('eCF', RNC, 'E310000000001')?.trackId).toBe('production');
    }
  });

  it('keeps its entries after a crash', () => {
    const ledger = reopened();
    const bytes = Buffer.from('<ECF>ñ</ECF>');
    const verdict = rejected([{ code: '1209', text: 'Este número de secuencia ya ha sido utilizado.' }], false);
    ledger.note(entry(1), bytes);
    ledger.note(entry(1, { verdict, effective: false, trackId: 'track-2' }), Buffer.from('other'));
    const again = reopened();
    expect([...again.list()]).toMatchObject([
      { id: 1, answered: true, effective: true },
      { id: 2, verdict, effective: false },
    ]);
    expect(again.bytesOf(again.find(1)!)).toEqual(bytes);
    expect(again.byTrackId('TesteCF', 'TRACK-1')?.id).toBe(1);
    expect(again.byTrackId('eCF', 'track-1')).toBeNull();
    expect(again.numbers.holder('TesteCF', RNC, 'E310000000001')?.id).toBe(1);
    expect(again.numbers.holder('eCF', RNC, 'E310000000001')).toBeNull();
    expect(again.note(entry(9), bytes).id).toBe(3);
  });

  it('drops a line that a crash cut off, and continues', () => {
    reopened().note(entry(1), Buffer.from('a'));
    appendFileSync(path.join(folder, 'journal.ndjson'), '{"t":"submission","id":2,"oper');
    const again = reopened();
    again.note(entry(2), Buffer.from('b'));
    const third = reopened();
    expect([...third.list()].map((each) => third.bytesOf(each).toString())).toEqual(['a', 'b']);
  });

  it('names the damaged line', () => {
    writeFileSync(path.join(folder, 'journal.ndjson'), '{"t":"unanswered","id":1}\nnonsense\n');
    expect(() => reopened()).toThrow(/Line 2 /);
  });

  it('records that an answer was not sent', () => {
    const ledger = reopened();
    const noted = ledger.note(entry(1), Buffer.from('a'));
    expect(noted.answered).toBe(false);
    ledger.answered(noted, false);
    expect(reopened().find(1)?.answered).toBe(false);
  });

  it('keeps a held document in process until it is released, over restarts', () => {
    const ledger = reopened();
    ledger.note(entry(1, { heldBy: 'f1' }), Buffer.from('a'));
    expect(presentVerdict(reopened().find(1)!, 99_999).code).toBe('3');
    expect(ledger.release('f2', 5)).toBe(false);
    expect(ledger.release('f1', 5)).toBe(true);
    expect(presentVerdict(reopened().find(1)!, 99_999)).toBe(ACCEPTED);
  });

  it('keeps cancelled and used numbers after a restart', () => {
    const ledger = reopened();
    const annulled = [{ type: '31', from: 5, to: 50 }];
    ledger.note(entry(1), Buffer.from('a'));
    ledger.note(entry(1, { operation: 'anulacionrangos', encf: null, trackId: null, annulled }), Buffer.from('b'));
    const { numbers } = reopened();
    expect([4, 5, 50, 51].map((at) => numbers.isAnnulled('TesteCF', RNC, '31', at))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(numbers.isAnnulled('eCF', RNC, '31', 5)).toBe(false);
    expect(numbers.taken('TesteCF', RNC)).toEqual([{ type: '31', from: 1, to: 1 }]);
  });

  it('forgets everything when it is cleared, but gives no id twice', () => {
    const ledger = reopened();
    ledger.note(entry(1), Buffer.from('a'));
    ledger.clear();
    expect([...ledger.list()]).toEqual([]);
    expect(readFileSync(path.join(folder, 'journal.ndjson')).length).toBe(0);
    expect(ledger.note(entry(2), Buffer.from('b')).id).toBe(2);
    expect(reopened().size).toBe(1);
  });

  it('lists by RNC (of issuer or approver), number and operation', () => {
    const ledger = new Ledger(new Journal(null));
    const approval = entry(1, { operation: 'aprobacioncomercial', buyer: '131880681', trackId: null });
    const cancellation = entry(1, {
      operation: 'anulacionrangos',
      encf: null,
      trackId: null,
      annulled: [{ type: '31', from: 1, to: 3 }],
    });
    for (const each of [entry(1), entry(2), approval, cancellation]) ledger.note(each, Buffer.from('x'));
    const ids = (filter: Parameters<Ledger['list']>[0]) => [...ledger.list(filter)].map(({ id }) => id);
    expect(ids({ encf: 'E310000000001' })).toEqual([1, 3, 4]);
    expect(ids({ rnc: '131880681' })).toEqual([3]);
    expect(ids({ operation: 'recepcion', rnc: RNC })).toEqual([1, 2]);
  });

  it('reads a journal that is longer than one block', () => {
    const ledger = reopened();
    for (let sequence = 1; sequence <= 4000; sequence++)
      ledger.note(entry(sequence), Buffer.from(`document ${sequence}`));
    const again = reopened();
    expect(again.size).toBe(4000);
    expect(again.bytesOf(again.find(3999)!).toString()).toBe('document 3999');
  });
});
