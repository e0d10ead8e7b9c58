import type { Database } from '@ecf/postgres';
import type { LostNumberStore, RangePosition, Series } from './ports.js';

/** The parameters $1 to $3 of every statement: environment, issuer and type of the series. */
const valuesOf = ({ env, issuerRnc, ecfType }: Series) => [env, issuerRnc, ecfType];

/** The comparison begins at the first number that was drawn and not committed, or after the last one that was drawn. */
const POSITIONS = `SELECT r.first, coalesce((SELECT min(substr(n.encf, 4)::bigint) FROM reserved_number n
      WHERE n.env = stored_environment($1, $2, NULL) AND n.issuer_rnc = $2 AND n.encf BETWEEN encf_of($3, r.first) AND encf_of($3, r.last)),
    p.next_number, r.first) AS next, r.last
  FROM unnest($4::bigint[], $5::bigint[]) AS r(first, last)
  LEFT JOIN number_position p ON p.env = stored_environment($1, $2, NULL) AND p.issuer_rnc = $2 AND p.ecf_type = $3 AND p.first_number = r.first
  WHERE NOT is_compared(stored_environment($1, $2, NULL), $2, $3, r.first)
  ORDER BY r.first`;

const TAKEN = `SELECT n AS number, l.encf IS NOT NULL AS is_lost
  FROM generate_series($4::bigint, $5::bigint) n
  LEFT JOIN lost_number l ON l.env = stored_environment($1, $2, NULL) AND l.issuer_rnc = $2 AND l.encf = encf_of($3, n)
  WHERE l.encf IS NOT NULL OR NOT is_number_free(stored_environment($1, $2, NULL), $2, encf_of($3, n))`;

const SAVE = `INSERT INTO lost_number (env, issuer_rnc, ecf_type, encf, total_amount, buyer, issued_on)
  SELECT stored_environment($1, $2, NULL), $2, $3, d.* FROM unnest($4::text[], $5::numeric[], $6::text[], $7::date[]) d
  ON CONFLICT DO NOTHING`;

const RELEASE = 'SELECT continue_range(stored_environment($1, $2, NULL), $2, $3, $4, $5, $6)';

const STATEMENT = `SELECT s.sales_compared FROM compared_series s, restored r
  WHERE NOT r.of_others AND s.env = stored_environment($1, $2, NULL) AND s.issuer_rnc = $2 AND s.ecf_type = $3
    AND s.first_number = 0 AND s.compared_at >= r.restored_at`;

const ALIKE = `SELECT l.encf FROM lost_number l
  WHERE l.env = stored_environment($1, $2, NULL) AND l.issuer_rnc = $2 AND l.ecf_type = $3
    AND l.total_amount = $4 AND l.buyer IS NOT DISTINCT FROM $5 AND l.issued_on = $6
    AND NOT EXISTS (SELECT FROM emission e WHERE e.env = l.env AND e.issuer_rnc = l.issuer_rnc AND e.encf = l.encf)
  ORDER BY l.encf`;

export function createPostgresLostNumberStore(database: Database): LostNumberStore {
  return {
    async positions(series, ranges) {
      const bounds = [ranges.map(({ from }) => sequenceOf(from)), ranges.map(({ to }) => sequenceOf(to))];
      return (await database.query<RangePosition>(POSITIONS, [...valuesOf(series), ...bounds])).rows;
    },
    async taken(series, first, last) {
      const values = [...valuesOf(series), first, last];
      const { rows } = await database.query<{ number: number; is_lost: boolean }>(TAKEN, values);
      const numbers = (isLost: boolean) => rows.filter((row) => row.is_lost === isLost).map(({ number }) => number);
      return { used: numbers(false), lost: numbers(true) };
    },
    async save(series, documents) {
      await database.query(SAVE, [
        ...valuesOf(series),
        documents.map(({ encf }) => encf),
        documents.map(({ totalAmount }) => totalAmount),
        documents.map(({ buyer }) => buyer),
        documents.map(({ issuedOn }) => issuedOn),
      ]);
    },
    async release(series, { first, last }, next) {
      await database.query(RELEASE, [...valuesOf(series), first, last, next]);
    },
    async statement(series) {
      const [row] = (await database.query<{ sales_compared: boolean }>(STATEMENT, valuesOf(series))).rows;
      return row === undefined ? null : { areSalesCompared: row.sales_compared };
    },
    async alike(series, { total_amount, buyer_rnc, buyer_foreign_id, date_issued }) {
      const values = [...valuesOf(series), total_amount, buyer_rnc ?? buyer_foreign_id, date_issued];
      return (await database.query<{ encf: string }>(ALIKE, values)).rows.map(({ encf }) => encf);
    },
  };
}

function sequenceOf(encf: string): number {
  return Number(encf.slice(3));
}
