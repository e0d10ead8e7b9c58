/**
 * The parts of SQL between a separator (`;` or `,`) that is not within parentheses or quotes: without comments and the bodies of
 * functions, with `''` for each text, and with one space for each white space.
 */
export function splitSql(sql, separator) {
  const parts = [''];
  let depth = 0;
  for (let at = 0; at < sql.length; ) {
    const token = tokenAt(sql, at);
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (token === separator && depth === 0) parts.push('');
    else parts[parts.length - 1] += shown(token);
    at += token.length;
  }
  return parts.map((part) => part.replace(/\s+/g, ' ').trim()).filter(Boolean);
}

/** What begins at an offset: a comment, a quoted name or text, the body of a function, or one character. */
function tokenAt(sql, at) {
  const upTo = (end, from) => {
    const found = sql.indexOf(end, from);
    return sql.slice(at, found < 0 ? sql.length : found + end.length);
  };
  const char = sql[at];
  if (sql.startsWith('--', at)) return upTo('\n', at);
  if (sql.startsWith('/*', at)) return upTo('*/', at);
  if (char === "'" || char === '"') return upTo(char, at + 1);
  const tag = char === '$' ? /^\$\w*\$/.exec(sql.slice(at, at + 64))?.[0] : undefined;
  return tag === undefined ? char : upTo(tag, at + tag.length);
}

const isComment = (token) => token.startsWith('--') || token.startsWith('/*');
const isBody = (token) => token.startsWith('$') && token.length > 1;
const isText = (token) => token.startsWith("'");
const shown = (token) => (isComment(token) ? ' ' : isBody(token) ? '$$' : isText(token) ? "''" : token);
