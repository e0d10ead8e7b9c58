import type { AnswerReader } from '../answers/answer-reader.js';
import { textField } from '../answers/answer-value.js';
import { type MessageLimits, messageField, readMessages } from '../answers/authority-messages.js';
import { fold, plainCode } from '../answers/authority-texts.js';
import type { CancellationVerdict } from '../answers/verdicts.js';
import { otherDocument } from './documents.js';

const DONE = 'las secuencias fueron anuladas correctamente';

/** An answer may name a hundred thousand ranges, and all of them are needed. */
const ALL: MessageLimits = { messages: 250_000, text: 8_000_000 };

/** The authority's texts for a refusal (contract section 10), folded. */
const REFUSALS: readonly string[] = [
  'tipo de archivo no valido',
  'la estructura del archivo xml no es valido',
  'la firma del documento no es valida',
  'el tipo de comprobante no es valido',
  'el valor del campo secuenciaencfdesde es mayor',
  'el valor del camposecuenciaencfdesde es mayor',
  'las secuencias que esta intentando anular han sido utilizadas',
  'el campo nolinea no es valido',
  'no fue posible anular las siguientes secuencias',
  'el rnc del certificado no esta delegado',
];

/**
 * There is no state word, and no codes are published: the texts decide, in the messages or in the heading. Code 1 or 2
 * decides only where no text is known; a known text and a code that contradict each other decide nothing.
 */
export function readCancellation(queried: { rnc: string }): AnswerReader<CancellationVerdict> {
  return ({ value }) => {
    const codigo = textField(value, 'codigo');
    const reasons = messageField(value);
    const rnc = textField(value, 'rnc');
    if (codigo === null || reasons === undefined) return null;
    const other = otherDocument(queried, { rnc });
    if (other !== null) return other;
    const code = plainCode(codigo);
    const heading = textField(value, 'nombre');
    const messages = readMessages(reasons, ALL);
    const status = decide(
      code,
      [...(heading === null ? [] : [heading]), ...messages.map(({ valor }) => valor)].map(fold),
    );
    return status === null ? null : { verdict: { status, code, rnc, heading, messages } };
  };
}

function decide(code: string, texts: string[]): CancellationVerdict['status'] | null {
  if (texts.some((text) => text.startsWith(DONE) && text.includes('excepcion'))) return 'Parcial';
  const done = texts.some((text) => text.startsWith(DONE));
  const refused = texts.some((text) => REFUSALS.some((refusal) => text.startsWith(refusal)));
  if (done && refused) return 'Parcial';
  if (done) return code === '2' ? null : 'Aceptado';
  if (refused) return code === '1' ? null : 'Rechazado';
  if (code === '1') return 'Aceptado';
  return code === '2' ? 'Rechazado' : null;
}
