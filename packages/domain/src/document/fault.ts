/** `error`: the document is refused. `warning`: it is not, unless the caller refuses warnings. */
export type Severity = 'error' | 'warning';

/**
 * A fault or warning at one place of a document. `path` names the element; repeated ones count from 1
 * (`ECF.DetallesItems.Item[2].MontoItem`). `rule` is a stable name (`schema.*`, `business.*` or `signature.*`). `code` is
 * the authority's code, if it has one. `source` names the document and page of the rule.
 */
export interface Fault {
  path: string;
  rule: string;
  code: string | null;
  message: string;
  source: string;
  severity: Severity;
}
