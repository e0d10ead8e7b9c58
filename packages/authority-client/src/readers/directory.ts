import { withoutTrailingSlashes } from '@ecf/domain';
import type { AnswerReader } from '../answers/answer-reader.js';
import { type AnswerFields, records, textField } from '../answers/answer-value.js';
import { refusedQuery, statusOf } from '../answers/authority-texts.js';
import type { DirectoryEntry } from '../answers/verdicts.js';

/** The whole directory: a list, or one single record (contract section 11). */
export const readDirectory: AnswerReader<DirectoryEntry[]> = (answer) => {
  const rows = answer.status === 200 ? records(answer.value, 'rnc') : undefined;
  if (rows) return { verdict: rows.flatMap(entryOf) };
  const reason = refusedQuery(answer.value, answer.text);
  return reason === null ? null : { refused: 'query_refused', reason };
};

/** One entry: a list with one record, the record itself, or nothing (`[]`, `null`, the authority's "not found"). */
export function readDirectoryEntry(queried: { rnc: string }): AnswerReader<DirectoryEntry | null> {
  return (answer) => {
    if (answer.status === 200 && answer.value === null) return { verdict: null };
    const state = statusOf(textField(answer.value, 'codigo'), textField(answer.value, 'estado'));
    if (state?.status === 'No encontrado') return { verdict: null };
    const reading = readDirectory(answer);
    if (reading === null || !('verdict' in reading)) return reading;
    return { verdict: reading.verdict.find((entry) => entry.rnc === queried.rnc) ?? null };
  };
}

function entryOf(row: AnswerFields): DirectoryEntry[] {
  const rnc = textField(row, 'rnc')?.replaceAll('-', '');
  if (rnc === undefined) return [];
  return [
    {
      rnc,
      name: textField(row, 'nombre') ?? '',
      receptionUrl: base(textField(row, 'urlrecepcion')),
      approvalUrl: base(textField(row, 'urlaceptacion')),
      authenticationUrl: base(textField(row, 'urlopcional')),
    },
  ];
}

function base(url: string | null): string | null {
  const trimmed = withoutTrailingSlashes(url ?? '');
  return trimmed === '' ? null : trimmed;
}
