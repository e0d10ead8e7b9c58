// Rules for every migration of a service after its first, so that the version before it keeps serving while instances are replaced:
// a migration expands; what it takes away, the version before must not use any more (docs/upgrading.md).
import { splitSql } from './split-sql.mjs';

/**
 * Why the SQL of a migration would stop or break the version before; empty if it does not.
 *
 * @param released versions that were released
 * @param earlier SQL of the migrations before it
 */
export function migrationFaults(sql, released = [], earlier = '') {
  const statements = statementsOf(sql);
  const created = new Set(statements.map((one) => NEW_TABLE.exec(one)?.[1]));
  const before = statementsOf(earlier);
  const unused = /^-- contract: unused since (\d+\.\d+\.\d+)/m.exec(sql)?.[1];
  const isContract = released.includes(unused);
  const unreleased = unused === undefined || isContract ? [] : [`${unused}: git has no tag of this released version`];
  const faults = statements.flatMap((statement) => {
    const table = TABLE.exec(statement)?.[1];
    if (table !== undefined && created.has(table)) return [];
    const remedies = RULES.filter((rule) => actionsOf(statement).some((action) => breaks(rule, action)))
      .filter(({ allowed }) => !(allowed === 'contract' && isContract))
      .map(({ remedy }) => remedy);
    return [...remedies, ...indexFaults(statement, before, isContract), ...mixed(statement, statements)].map(
      (remedy) => `${statement.slice(0, 80)}: ${remedy}`,
    );
  });
  return [...unreleased, ...faults];
}

const statementsOf = (sql) => splitSql(sql, ';').map((one) => one.replace(/"?\bpublic"?\./gi, ''));

const TABLE =
  /^(?:ALTER TABLE (?:IF EXISTS )?(?:ONLY )?|CREATE (?:UNIQUE )?INDEX .* ON (?:ONLY )?|INSERT INTO |UPDATE (?:ONLY )?|DELETE FROM (?:ONLY )?)"?(\w+)"?/i;
const NEW_TABLE = /^CREATE TABLE "?(\w+)"?/i;
const INDEX = /^CREATE (?:UNIQUE )?INDEX (?:CONCURRENTLY )?(?:IF NOT EXISTS )?"?(\w+)"?/i;
const CONCURRENT = /^(?:CREATE (?:UNIQUE )?|DROP )INDEX CONCURRENTLY\b/i;
const VALIDATION = /^ALTER TABLE (?:ONLY )?\S+ VALIDATE CONSTRAINT \S+$/i;
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
    matches: /^DROP (?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|TYPE|SEQUENCE|COLUMN|CONSTRAINT)\b/i,
    allowed: 'contract',
    remedy: CONTRACT,
  },
  { matches: /\bRENAME\b/i, remedy: 'add the new name beside the old one, and drop the old one in a later version' },
  { matches: /^ALTER COLUMN \S+ (?:SET DATA )?TYPE\b/i, remedy: 'add a column of the new type beside it' },
  { matches: /\b(?:SET NOT NULL|DROP DEFAULT)\b/i, allowed: 'contract', remedy: CONTRACT },
  { matches: /^ADD COLUMN\b.*\bNOT NULL\b/i, unless: /\bDEFAULT\b/i, remedy: 'give the column a default' },
  {
    matches: /^ADD COLUMN\b.*(?:\bDEFAULT\b.*\(|\bGENERATED\b|\b(?:SMALL|BIG)?SERIAL\b)/i,
    unless: /\bDEFAULT now\(\)[^(]*$/i,
    remedy: 'give the column a constant default: another one writes every row anew',
  },
  {
    matches: /^(?:UPDATE|DELETE|TRUNCATE|MERGE|WITH|INSERT\b.*\bSELECT)\b/i,
    remedy: 'let the service do it, a limited number of rows at a time: this locks every row that it changes',
  },
  { matches: /^(?:DO|CALL)\b/i, remedy: 'write its statements into the migration, so that they are checked' },
  { matches: /^(?:LOCK|CLUSTER|REINDEX)\b/i, remedy: 'leave it out: it locks the whole table' },
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

/** What is wrong with making or dropping an index of a table that has rows, after the statements of earlier migrations. */
function indexFaults(statement, before, isContract) {
  const dropped = /^DROP INDEX (?:CONCURRENTLY )?(?:IF EXISTS )?(.*)$/i
    .exec(statement)?.[1]
    ?.replace(/ (?:CASCADE|RESTRICT)$/i, '');
  const exists = (index) => before.some((one) => INDEX.exec(one)?.[1] === index.replaceAll('"', '').trim());
  if (dropped !== undefined) return !isContract && dropped.split(',').some(exists) ? [CONTRACT] : [];
  if (!/^CREATE (?:UNIQUE )?INDEX\b/i.test(statement) || CONCURRENT.test(statement)) return [];
  const table = /\bON ONLY "?(\w+)"?/i.exec(statement)?.[1];
  const isPartitioned = before.some((one) => /\) PARTITION BY\b/i.test(one) && NEW_TABLE.exec(one)?.[1] === table);
  return isPartitioned
    ? []
    : ['create it CONCURRENTLY, in a migration with nothing else, or ON ONLY a table that is partitioned by month'];
}

/** Statements that must be alone in their migration. Those outside a transaction can be repeated after they were cut off. */
function mixed(statement, statements) {
  const isAlone = (form) => statements.every((one) => form.test(one));
  if (/\bVALIDATE CONSTRAINT\b/i.test(statement))
    return isAlone(VALIDATION)
      ? []
      : ['give it a migration with nothing else, because the locks of other statements would be held while it runs'];
  if (!CONCURRENT.test(statement)) return [];
  const name = INDEX.exec(statement)?.[1];
  const drops = (one) => new RegExp(`^DROP INDEX CONCURRENTLY IF EXISTS "?${name}"?$`, 'i').test(one);
  const remedies = [
    isAlone(CONCURRENT) || 'give it a migration with nothing else, because it runs outside a transaction',
    name === undefined || statements.some(drops) || `put DROP INDEX CONCURRENTLY IF EXISTS "${name}" before it`,
  ];
  return remedies.filter((remedy) => remedy !== true);
}
