import type { AnswerReader } from '../answers/answer-reader.js';
import { field, textField } from '../answers/answer-value.js';
import type { Seed } from '../answers/verdicts.js';

/** `valor` is opaque and `fecha` stays text (contract section 2.1). */
export const readSeed: AnswerReader<Seed> = ({ status, value }) => {
  const seed = field(value, 'valor');
  const date = textField(value, 'fecha');
  if (status !== 200 || typeof seed !== 'string' || seed.trim() === '' || date === null) return null;
  return { verdict: { value: seed, date } };
};
