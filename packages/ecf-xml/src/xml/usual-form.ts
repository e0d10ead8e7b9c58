/** Declarations at the root as documents have them, and in canonical order. */
const DECLARATIONS: ReadonlyMap<string, string> = (() => {
  const xsd = ' xmlns:xsd="http://www.w3.org/2001/XMLSchema"';
  const xsi = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  return new Map([
    ['', ''],
    [xsd + xsi, xsd + xsi],
    [xsi + xsd, xsd + xsi],
  ]);
})();

const SIGNATURE_TAG = '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#">';

/** Longer than any real one: what is looked through here costs more a byte than elsewhere. */
const MAX_SIGNATURE = 64 * 1024;

/** Prolog, blanks, and the start tag of the root with nothing but declarations. */
const START = /^(?:<\?xml [^?<>]*\?>)?[ \t\n]*<([A-Za-z_][\w.-]*)((?: xmlns:[a-z]+="[^"<>&\s]*")*)>/;

/** An element inside Signature with the one attribute that those have, empty or not. */
const WITH_ATTRIBUTE = /<([A-Za-z_][\w.-]*)( (?:Algorithm|URI)="[^"<>&\s]*")(\/?)>/g;

/**
 * What canonical form writes otherwise, or what is not plainly seen to be in it: references, carriage returns, markup that is
 * no tag, tags with more than a plain name in them, and `>` in text.
 */
const UNUSUAL = /[&\r]|<[^A-Za-z_/]|<\/?[A-Za-z_][\w.-]*[^\w.\->]|>[^<>]*>/;

/**
 * Inclusive Canonical XML of a document that is written as most are: tags without attributes, text without references, one
 * Signature whose elements have one attribute each. Such a document is its own canonical form but for the prolog, the order
 * of the root's declarations and empty tags. Null for every other document, and for many that would be in order.
 *
 * @param source a well-formed document without comments and processing instructions, line ends normalised
 */
export function usualCanonicalForm(source: string): string | null {
  const start = START.exec(source);
  const declarations = start === null ? undefined : DECLARATIONS.get(start[2]!);
  if (start === null || declarations === undefined) return null;
  const content = start[0].length;
  const end = source.lastIndexOf('>') + 1;
  const signature = source.indexOf(SIGNATURE_TAG, content);
  const body = source.slice(content - 1, signature < 0 ? end : signature);
  if (UNUSUAL.test(body)) return null;
  const head = `<${start[1]}${declarations}${body}`;
  if (signature < 0) return head;
  const inside = source.slice(signature + SIGNATURE_TAG.length - 1, end);
  if (inside.length > MAX_SIGNATURE) return null;
  if (UNUSUAL.test(inside.replace(WITH_ATTRIBUTE, '<$1>'))) return null;
  const signed = inside.replace(WITH_ATTRIBUTE, (_, name, attribute, empty) =>
    empty === '' ? `<${name}${attribute}>` : `<${name}${attribute}></${name}>`,
  );
  return `${head}${SIGNATURE_TAG.slice(0, -1)}${signed}`;
}
