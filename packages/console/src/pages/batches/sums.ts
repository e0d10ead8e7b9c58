import { Decimal, parseDocumentDate, sum } from '@ecf/domain';

/** Documents of one type in a file. */
export interface DocumentSum {
  /** TipoeCF; empty for lines that have none. */
  readonly type: string;
  readonly count: number;
  /** Sum of MontoTotal. */
  readonly total: string;
  /** First and last FechaEmision, `YYYY-MM-DD`; empty where no line has one. */
  readonly first: string;
  readonly last: string;
}

/** Sums by type of the documents on lines of JSON. */
export function sumsOf(lines: readonly string[]): readonly DocumentSum[] {
  const documents = lines.map(factsOf);
  return [...new Set(documents.map(({ type }) => type))].sort().map((type) => {
    const ofType = documents.filter((one) => one.type === type);
    const days = ofType.flatMap(({ day }) => day ?? []).sort();
    const total = sum(ofType.map(({ amount }) => amount));
    return { type, count: ofType.length, total: total.toFixed(2), first: days[0] ?? '', last: days.at(-1) ?? '' };
  });
}

interface Facts {
  type: string;
  day: string | null;
  amount: Decimal;
}

/** The gateway checks the lines; here a line that cannot be read counts without its facts. */
function factsOf(line: string): Facts {
  try {
    const { IdDoc, Emisor, Totales } = JSON.parse(line).ECF.Encabezado;
    return {
      type: String(IdDoc.TipoeCF),
      day: parseDocumentDate(String(Emisor.FechaEmision)),
      amount: Decimal.parse(String(Totales.MontoTotal)) ?? Decimal.ZERO,
    };
  } catch {
    return { type: '', day: null, amount: Decimal.ZERO };
  }
}
