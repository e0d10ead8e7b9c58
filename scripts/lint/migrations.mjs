// Rules for every migration of a service after its first, so that the version before it keeps serving while instances are replaced:
// a migration expands; what it takes away, the version before must not use any more (docs/upgrading.md).

/** Why the SQL of a migration would stop or break the version before; empty if it does not. */
export function migrationFaults(sql) {
  const text = sql.replace(/--[^\n]*/g, '');
  const statements = text.split(';').map((one) => one.replace(/\s+/g, ' ').trim());
  const created = new Set([...text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?/gi)].map(([, name]) => name));
  const contracts = /^-- contract: unused since \d+\.\d+\.\d+/m.test(sql);
  return statements.filter(Boolean).flatMap((statement) => {
    const table = /^(?:ALTER TABLE (?:ONLY )?|CREATE (?:UNIQUE )?INDEX .* ON (?:ONLY )?)"?(\w+)"?/i.exec(
      statement,
    )?.[1];
    if (table !== undefined && created.has(table)) return [];
    return RULES.filter(({ matches, unless }) => matches.test(statement) && !unless?.test(statement))
      .filter(({ allowed }) => !(allowed === 'contract' && contracts))
      .map(({ remedy }) => `${statement.slice(0, 80)}: ${remedy}`)
      .concat(mixed(statement, statements));
  });
}

const CONTRACT = 'add a line "-- contract: unused since X.Y.Z" with the released version that stopped using it';
const RULES = [
  { matches: /^DROP TABLE|\bDROP COLUMN\b/i, allowed: 'contract', remedy: CONTRACT },
  { matches: /\bRENAME\b/i, remedy: 'add the new name beside the old one, and drop the old one in a later version' },
  { matches: /\bALTER COLUMN \S+ (?:SET DATA )?TYPE\b/i, remedy: 'add a column of the new type beside it' },
  { matches: /\bSET NOT NULL\b/i, allowed: 'contract', remedy: CONTRACT },
  { matches: /\bADD COLUMN\b.*\bNOT NULL\b/i, unless: /\bDEFAULT\b/i, remedy: 'give the column a default' },
  {
    matches: /^CREATE (?:UNIQUE )?INDEX\b/i,
    unless: /\bCONCURRENTLY\b|\bON ONLY\b/i,
    remedy: 'create it CONCURRENTLY, in a migration with nothing else, or ON ONLY a table that is partitioned by month',
  },
  {
    matches: /\bADD CONSTRAINT\b.*\b(?:FOREIGN KEY|CHECK)\b/i,
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
    statements.every((one) => one === '' || /\bCONCURRENTLY\b/i.test(one)) ||
      'give it a migration with nothing else, because it runs outside a transaction',
    name === undefined || statements.some(drops) || `put DROP INDEX CONCURRENTLY IF EXISTS "${name}" before it`,
  ];
  return remedies.filter((remedy) => remedy !== true).map((remedy) => `${statement.slice(0, 80)}: ${remedy}`);
}
