import type { AnswerReader } from '../answers/answer-reader.js';
import { records, textField } from '../answers/answer-value.js';
import { isoDate } from '../answers/authority-dates.js';
import { refusedQuery, statusOfWord } from '../answers/authority-texts.js';
import type { TrackIdEntry, TrackIdList } from '../answers/verdicts.js';
import { otherDocument } from './other-document.js';
import { TRACK_ID } from './read-receipt.js';

/**
 * A list or one single record, states as words only; "not found" is such a record, or an empty list (section 8). The
 * documented records name no document; one that does has to name the queried one.
 */
export function readTrackIds(queried: { rnc: string; encf: string }): AnswerReader<TrackIdList> {
  return ({ status, value, text }) => {
    const reason = refusedQuery(value, text);
    if (reason !== null) return { refused: 'query_refused', reason };
    const rows = records(value, 'estado');
    if (!rows || (rows.length === 0 && status !== 200)) return null;
    const trackIds: TrackIdEntry[] = [];
    for (const row of rows) {
      const other = otherDocument(queried, {
        encf: textField(row, 'encf') ?? textField(row, 'ncfelectronico'),
        rnc: textField(row, 'rnc') ?? textField(row, 'rncemisor'),
      });
      if (other !== null) return other;
      const state = statusOfWord(textField(row, 'estado'));
      const trackId = textField(row, 'trackid');
      if (!state || (state !== 'No encontrado' && trackId === null)) return null;
      if (state === 'No encontrado' || trackId === null) continue;
      if (!TRACK_ID.test(trackId)) return null;
      trackIds.push({ trackId, status: state, dateReceived: isoDate(textField(row, 'fecharecepcion')) });
    }
    return { verdict: { found: trackIds.length > 0, trackIds } };
  };
}
