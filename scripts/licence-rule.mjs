// Decides whether a package of the product may have a licence.
import satisfies from 'spdx-satisfies';

/** Licences that allow use in a product under Apache-2.0 without a duty beyond a notice. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  // Of fonts: they may be embedded and passed on, not sold alone.
  'OFL-1.1',
  'Unlicense',
];

/** Whether a package with this SPDX expression may be used. `A OR B` is a choice, `A AND B` demands both. */
export function isAllowedLicence(expression) {
  try {
    return satisfies(expression, ALLOWED);
  } catch {
    // No SPDX expression: a person must look at it.
    return false;
  }
}
