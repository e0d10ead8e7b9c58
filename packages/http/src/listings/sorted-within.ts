/** Bounds of a column as SQL expressions of its type; null = none. */
export interface ColumnBounds {
  /** Included. */
  readonly least: string | null;
  readonly most: string | null;
  readonly mostIncluded: boolean;
}

/** The place after which a page begins: SQL expressions of the row's value of the sort and of its id. */
export interface SeekPlace {
  readonly order: 'ASC' | 'DESC';
  readonly value: string;
  readonly id: string;
}

const MOST_ID = '9223372036854775807';

/**
 * The conditions that hold a column within its bounds and, if the page of a listing sorted by it begins after a place, beyond
 * that place. PostgreSQL begins an index scan at one condition of a column, and would take the bound: then a page costs all
 * rows before it. So the bound on the side of the place is left out. A made-up place beyond the bound counts as the bound.
 */
export function sortedWithin(column: string, bounds: ColumnBounds, place: SeekPlace | null): string[] {
  const { least, most, mostIncluded } = bounds;
  const conditions: string[] = [];
  const seek = (follows: '<' | '>', value: string, id: string) =>
    conditions.push(`(${column}, id) ${follows} (${value}, ${id})`);
  if (place?.order === 'ASC') {
    if (least === null) seek('>', place.value, `${place.id}::bigint`);
    else
      seek(
        '>',
        `greatest(${place.value}, ${least})`,
        `CASE WHEN ${place.value} < ${least} THEN -1 ELSE ${place.id}::bigint END`,
      );
  } else if (least !== null) conditions.push(`${column} >= ${least}`);
  if (place?.order === 'DESC') {
    const [beyond, id] = mostIncluded ? ['>', MOST_ID] : ['>=', '-1'];
    if (most === null) seek('<', place.value, `${place.id}::bigint`);
    else
      seek(
        '<',
        `least(${place.value}, ${most})`,
        `CASE WHEN ${place.value} ${beyond} ${most} THEN ${id} ELSE ${place.id}::bigint END`,
      );
  } else if (most !== null) conditions.push(`${column} ${mostIncluded ? '<=' : '<'} ${most}`);
  return conditions;
}
