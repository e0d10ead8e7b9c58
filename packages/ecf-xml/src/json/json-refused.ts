export type JsonRefusedCode =
  | 'not_utf8'
  | 'invalid_json'
  | 'too_deep'
  | 'too_large'
  | 'too_many_values'
  | 'too_many_keys'
  | 'forbidden_key'
  | 'duplicate_key';

/** The text is not JSON that we accept. Line and column count from 1. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
  constructor(
    readonly code: JsonRefusedCode,
    message: string,
    readonly line: number | null = null,
    readonly column: number | null = null,
  ) {
    super(message);
  }
}
