import { describe, expect, it } from '@jest/globals';
import {
  isNumberReusable,
  isRefusedAsRepeat,
  isTransientRefusal,
  type NumberVerdict,
  verdictEvent,
} from '../src/number-reuse.js';

function rejected(sequenceUsed: boolean | null, codigo = '0', valor = ''): NumberVerdict {
  return { status: 'Rechazado', sequenceUsed, messages: [{ codigo, valor }] };
}

const COMBINATION = 'La combinación e-NCF y código de seguridad ya han sido utilizados';
const FIRST = { resent: false, mayTryAgain: true };
const AGAIN = { resent: true, mayTryAgain: true };

describe('a number is reusable', () => {
  it.each([
    ['rejected, declared unused', rejected(false, '1', 'El formato del XML no es válido'), true],
    ['rejected, declared used', rejected(true, '176'), false],
    ['rejected, nothing said', rejected(null, '145'), false],
    [
      'number already used, whatever the flag',
      rejected(false, '1209', 'Este número de secuencia ya ha sido utilizado.'),
      false,
    ],
    ['number already used, by its code alone', rejected(false, '1209'), false],
    [
      'number already used, by its text alone',
      rejected(false, '0', 'Este numero de secuencia ya ha sido utilizado'),
      false,
    ],
    ['combination already used', rejected(false, '0', COMBINATION), false],
    [
      'combination already used, other case and accents',
      rejected(false, '', 'LA COMBINACION eNCF y codigo de seguridad  ya han sido utilizados.'),
      false,
    ],
    [
      'the authority failed',
      rejected(false, '004', 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.'),
      true,
    ],
    ['accepted', { ...rejected(false), status: 'Aceptado' }, false],
    ['in process', { ...rejected(false), status: 'EnProceso' }, false],
    ['not found', { ...rejected(false), status: 'No encontrado' }, false],
  ] as [string, NumberVerdict, boolean][])('%s: %#', (_name, verdict, reusable) => {
    expect(isNumberReusable(verdict)).toBe(reusable);
  });

  it('distinguishes repeats and temporary failures from other refusals', () => {
    expect(isRefusedAsRepeat(rejected(false, ' 1209 '))).toBe(true);
    expect(isRefusedAsRepeat(rejected(false, '12090'))).toBe(false);
    expect(isRefusedAsRepeat({ status: 'Aceptado', messages: [{ codigo: '1209', valor: '' }] })).toBe(false);
    expect(isTransientRefusal(rejected(false, '004'))).toBe(true);
    expect(isTransientRefusal(rejected(false, '4'))).toBe(false);
    expect(isTransientRefusal(rejected(false, '0', 'Ha ocurrido un error validando en eCF'))).toBe(true);
  });
});

describe('the event of a verdict', () => {
  it.each([
    [{ ...rejected(true), status: 'Aceptado' }, FIRST, 'accepted'],
    [{ ...rejected(true), status: 'AceptadoCondicional' }, FIRST, 'accepted-conditionally'],
    [{ ...rejected(null), status: 'EnProceso' }, FIRST, 'in-process'],
    [{ ...rejected(null), status: 'No encontrado' }, AGAIN, 'not-found'],
    [rejected(true, '176'), FIRST, 'rejected-used'],
    [rejected(null, '145'), FIRST, 'rejected-used'],
    [rejected(false, '1'), FIRST, 'rejected-reusable'],
    [rejected(false, '1209'), FIRST, 'rejected-used'],
    [rejected(false, '1209'), AGAIN, 'refused-as-repeat'],
    [rejected(true, '0', COMBINATION), AGAIN, 'refused-as-repeat'],
    [rejected(true, '75', COMBINATION), FIRST, 'rejected-used'],
    [rejected(true, '75', COMBINATION), { ...FIRST, rejectedBefore: true }, 'rejected-reusable'],
    [rejected(true, '75', 'Número de secuencia no autorizada.'), { ...FIRST, rejectedBefore: true }, 'rejected-used'],
    [rejected(false, '1209'), { ...FIRST, rejectedBefore: true }, 'rejected-used'],
    [rejected(false, '004'), FIRST, 'try-again'],
    [rejected(false, '004'), { resent: false, mayTryAgain: false }, 'rejected-reusable'],
    [rejected(false, '004'), { resent: true, mayTryAgain: false }, 'outcome-unknown'],
  ] as [NumberVerdict, typeof FIRST, string][])('%j %j → %s', (verdict, sent, event) => {
    expect(verdictEvent(verdict, sent)).toBe(event);
  });
});
