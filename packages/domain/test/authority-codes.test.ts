import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { AUTHORITY_MESSAGES, AUTHORITY_STATES, meaningsOf, statusOf } from '../src/authority-codes.js';
import { BUSINESS_RULES } from '../src/rules/catalogue.js';
import { SHARED } from './documents.js';

describe('states of the authority', () => {
  it.each([
    [1, 'Aceptado', 'Aceptado'],
    ['1', null, 'Aceptado'],
    ['01', '', 'Aceptado'],
    [4, 'Aceptado Condicional', 'AceptadoCondicional'],
    [null, 'Aceptado condicional', 'AceptadoCondicional'],
    [null, 'En proceso', 'EnProceso'],
    [3, null, 'EnProceso'],
    [2, 'RECHAZADO', 'Rechazado'],
    ['0', 'No encontrado', 'No encontrado'],
    [1, 'Rechazado', 'Rechazado'],
    [9, null, null],
    [1, 'Bad Request', null],
    [null, null, null],
  ])('%j %j is %j', (code, word, status) => {
    expect(statusOf(code, word)).toBe(status);
  });
});

describe('messages of the authority', () => {
  it('are found by code and text', () => {
    const [entry] = meaningsOf(
      615,
      'El campo NCFModificado de la sección InformacionReferencia no es válido. El RNC del comprador o Id extranjero de la nota de crédito no es válido, ya que no coincide',
    );
    expect(entry?.meaning).toMatch(/buyer/);
    expect(meaningsOf('1209', '').map(({ meaning }) => meaning)).toEqual([
      expect.stringMatching(/never treat the number as free/),
    ]);
    expect(meaningsOf('0', 'La combinación e-NCF y código de seguridad ya han sido utilizados')[0]?.meaning).toMatch(
      /sent before/,
    );
    expect(meaningsOf('', 'El ACECF E31 ya habia sido cargada y aceptada previamente')[0]?.meaning).toMatch(/success/);
    expect(meaningsOf('99999', 'algo nuevo')).toEqual([]);
  });

  it('mark refusals after which the same document may succeed', () => {
    expect(AUTHORITY_MESSAGES.filter((entry) => entry.transient)).toHaveLength(3);
    expect(meaningsOf('004', '')[0]).toMatchObject({ transient: true, sequenceUsed: false, status: 'Rechazado' });
  });

  it('agree with the verdicts of the rules that carry their code', () => {
    for (const rule of BUSINESS_RULES.filter(({ code, verdict }) => code !== null && verdict === 'rejects')) {
      const entries = AUTHORITY_MESSAGES.filter(({ code }) => code === rule.code);
      expect([rule.name, entries.map(({ status }) => status)]).toEqual([
        rule.name,
        expect.arrayContaining(['Rechazado']),
      ]);
    }
  });

  (SHARED === null ? it.skip : it)('cover every known code and text (skipped when the shared folder is absent)', () => {
    type Known = { code: string | null; message: string; applies_to: string };
    const known: Known[] = JSON.parse(readFileSync(`${SHARED}facts/authority-codes.json`, 'utf8'));
    const codes = new Set(AUTHORITY_MESSAGES.map(({ code }) => code));
    const states = new Set(AUTHORITY_STATES.map(({ code }) => code));
    for (const { code, message, applies_to } of known) {
      if (applies_to.includes('CodigoMotivoNoRecibido')) continue;
      if (code === null) expect([message, meaningsOf('', message).length > 0]).toEqual([message, true]);
      else expect([code, codes.has(code) || states.has(code)]).toEqual([code, true]);
    }
  });
});
