// Rules for every migration of a service after its first, so that the version before it keeps serving while instances are replaced:
// a migration expands; what it takes away, the version before must not use any more (docs/upgrading.md).
import { splitSql } from './split-sql.mjs';

/** Why the SQL of a migration would stop or break the version before, of which `released` has the versions; empty if it does not. */
export function migrationFaults(sql, released = []) {
  const statements = splitSql(sql, ';');
  const created = new Set(statements.map((one) => /^CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/i.exec(one)?.[1]));
  const unused = /^-- contract: unused since (\d+\.\d+\.\d+)/m.exec(sql)?.[1];
  const isContract = released.includes(unused);
  const unreleased = unused === undefined || isContract ? [] : [`${unused}: git has no tag of this released version`];
  const faults = statements.flatMap((statement) => {
    const table = TABLE.exec(statement)?.[1];
    if (table !== undefined && created.has(table)) return [];
    return RULES.filter((rule) => actionsOf(statement).some((action) => breaks(rule, action)))
      .filter(({ allowed }) => !(allowed === 'contract' && isContract))
      .map(({ remedy }) => `${statement.slice(0, 80)}: ${remedy}`)
      .concat(mixed(statement, statements));
  });
  return [...unreleased, ...faults];
}

const TABLE =
  /^(?:ALTER TABLE (?:IF EXISTS )?(?:ONLY )?|CREATE (?:UNIQUE )?INDEX .* ON (?:ONLY )?|UPDATE (?:ONLY )?|DELETE FROM (?:ONLY )?)"?(\w+)"?/i;
const NOT_A_COLUMN = new Set(['COLUMN', 'CONSTRAINT', 'UNIQUE', 'PRIMARY', 'FOREIGN', 'CHECK', 'EXCLUDE']);

/** The actions of ALTER TABLE, in which the word COLUMN is written out; any other statement is one action. */
function actionsOf(statement) {
  const head = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?\S+ /i.exec(statement)?.[0];
  if (head === undefined) return [statement];
  return splitSql(statement.slice(head.length), ',').map((action) => {
    const [verb = '', next = '', ...rest] = action.split(' ');
    const isColumn = /^(?:ADD|DROP|ALTER)$/i.test(verb) && !NOT_A_COLUMN.has(next.toUpperCase());
    return [verb, ...(isColumn ? ['COLUMN'] : []), next, ...rest].join(' ');
  });
}

const breaks = ({ matches, unless }, action) => matches.test(action) && !unless?.test(action);

const CONTRACT = 'add a line "-- contract: unused since X.Y.Z" with the released version that stopped using it';
const RULES = [
  {
    matches: /^DROP (?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|TYPE|SEQUENCE|COLUMN)\b/i,
    allowed: 'contract',
    remedy: CONTRACT,
  },
  { matches: /\bRENAME\b/i, remedy: 'add the new name beside the old one, and drop the old one in a later version' },
  { matches: /^ALTER COLUMN \S+ (?:SET DATA )?TYPE\b/i, remedy: 'add a column of the new type beside it' },
  { matches: /\bSET NOT NULL\b/i, allowed: 'contract', remedy: CONTRACT },
  { matches: /^ADD COLUMN\b.*\bNOT NULL\b/i, unless: /\bDEFAULT\b/i, remedy: 'give the column a default' },
  {
    matches: /^ADD COLUMN\b.*(?:\bDEFAULT\b.*\(|\bGENERATED\b|\b(?:SMALL|BIG)?SERIAL\b)/i,
    unless: /\bDEFAULT now\(\)[^(]*$/i,
    remedy: 'give the column a constant default: another one writes every row anew',
  },
  {
    matches: /^(?:UPDATE|DELETE FROM|TRUNCATE)\b/i,
    remedy: 'let the service do it, a limited number of rows at a time: this locks every row that it changes',
  },
  {
    matches: /^CREATE (?:UNIQUE )?INDEX\b/i,
    unless: /\bCONCURRENTLY\b|\bON ONLY\b/i,
    remedy: 'create it CONCURRENTLY, in a migration with nothing else, or ON ONLY a table that is partitioned by month',
  },
  {
    matches: /^ADD\b.*\b(?:UNIQUE|PRIMARY KEY|EXCLUDE)\b/i,
    unless: /\bUSING INDEX\b/i,
    remedy: 'create a unique index CONCURRENTLY, and add the constraint USING INDEX in the next migration',
  },
  {
    matches: /^ADD\b.*\b(?:FOREIGN KEY|REFERENCES|CHECK)\b/i,
    unless: /\bNOT VALID\b/i,
    remedy: 'add it NOT VALID, and validate it in the next migration',
  },
  { matches: /\block_timeout\b/i, remedy: 'leave it out: every migration runs with a lock_timeout of three seconds' },
];

/** Statements that run outside a transaction are alone in their migration, and can be repeated after they were cut off. */
function mixed(statement, statements) {
  if (!/\bCONCURRENTLY\b/i.test(statement)) return [];
  const name = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY "?(\w+)"?/i.exec(statement)?.[1];
  const drops = (one) => new RegExp(`^DROP INDEX CONCURRENTLY IF EXISTS "?${name}"?$`, 'i').test(one);
  const remedies = [
    statements.every((one) => /\bCONCURRENTLY\b/i.test(one)) ||
      'give it a migration with nothing else, because it runs outside a transaction',
    name === undefined || statements.some(drops) || `put DROP INDEX CONCURRENTLY IF EXISTS "${name}" before it`,
  ];
  return remedies.filter((remedy) => remedy !== true).map((remedy) => `${statement.slice(0, 80)}: ${remedy}`);
}
