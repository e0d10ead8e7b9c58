// Writes plain data as YAML: block style, text quoted where it could be read as something else.

const PLAIN = /^[A-Za-z_$][A-Za-z0-9_$ ./()-]*[A-Za-z0-9_$/)]$|^[A-Za-z_$]$/;
const WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n']);

function scalar(value) {
  if (typeof value !== 'string') return JSON.stringify(value);
  return PLAIN.test(value) && !WORDS.has(value.toLowerCase()) ? value : JSON.stringify(value);
}

function isEmpty(value) {
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

function lines(value) {
  if (typeof value !== 'object' || value === null) return [scalar(value)];
  if (isEmpty(value)) return [Array.isArray(value) ? '[]' : '{}'];
  if (Array.isArray(value))
    return value.flatMap((each) => lines(each).map((line, i) => `${i === 0 ? '- ' : '  '}${line}`));
  return Object.entries(value).flatMap(([name, each]) => {
    const inner = lines(each);
    const block = typeof each === 'object' && each !== null && !isEmpty(each);
    return block ? [`${scalar(name)}:`, ...inner.map((line) => `  ${line}`)] : [`${scalar(name)}: ${inner[0]}`];
  });
}

/** The data as a YAML document. `undefined` is left out. */
export function toYaml(data) {
  return `${lines(JSON.parse(JSON.stringify(data))).join('\n')}\n`;
}
