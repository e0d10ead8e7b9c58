import { trimBlanks } from '../values/blanks.js';

/** Characters of XML names, as XML 1.0 (fifth edition) lists them. */
const START =
  ':A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}\\u{200d}' +
  '\\u{2070}-\\u{218f}\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}';
const PART = `${START}\\-.0-9\\u{b7}\\u{300}-\\u{36f}\\u{203f}\\u{2040}`;
const withoutColon = (characters: string): string => characters.slice(1);

const NCNAME = new RegExp(`^[${withoutColon(START)}][${withoutColon(PART)}]*$`, 'u');

/** The built-in types derived from xs:string that a document may claim, and the values they leave. */
const DERIVED_FROM_STRING: ReadonlyMap<string, RegExp> = new Map([
  ['string', /^/],
  ['normalizedString', /^/],
  ['token', /^/],
  ['language', /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/],
  ['NMTOKEN', new RegExp(`^[${PART}]+$`, 'u')],
  ['Name', new RegExp(`^[${START}][${PART}]*$`, 'u')],
  ['NCName', NCNAME],
  ['ID', NCNAME],
  ['IDREF', NCNAME],
]);

/** Whether `claimed` is the built-in type `declared` or derived from it, and the text is one of its values. */
export function isValueOfBuiltIn(declared: string, claimed: string, text: string): boolean {
  if (claimed === declared) return true;
  if (declared !== 'string') return false;
  const values = DERIVED_FROM_STRING.get(claimed);
  return values?.test(trimBlanks(text)) ?? false;
}
