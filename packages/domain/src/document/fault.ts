/**
 * A fault at one place of a document.
 * `path` names the element with repeated ones counted from 1 (`ECF.DetallesItems.Item[2].MontoItem`), `rule` is a
 * stable name (`schema.*` or `business.*`), `code` the authority's code where it has one, `source` the document and
 * page the rule comes from.
 */
export interface Fault {
  path: string;
  rule: string;
  code: string | null;
  message: string;
  source: string;
}
