import { expect, it } from '@jest/globals';
import { hasEarlierSubmission } from '../src/data/earlier-submission.js';

const USED = { codigo: '1209', valor: 'Este número de secuencia ya ha sido utilizado.' };
const COMBINATION = { codigo: '', valor: 'La combinación e-NCF y código de seguridad ya han sido utilizados' };
const OTHER = { codigo: '1381', valor: 'El campo RNCComprador es obligatorio.' };

it.each([
  ['a used number', true, USED, true],
  ['a used combination', true, COMBINATION, true],
  ['a used combination whose number is free', false, COMBINATION, false],
  ['another fault', true, OTHER, false],
] as const)(
  'A refusal for %s says whether the authority has an earlier submission.',
  (_, sequence_used, message, expected) => {
    expect(hasEarlierSubmission({ status: 'Rechazado', messages: [message], sequence_used })).toBe(expected);
  },
);
