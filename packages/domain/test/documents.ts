import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DocumentNode, DocumentValue } from '../src/document/document-tree.js';

const ROOT = new URL('../../../', import.meta.url);

/** A sample of `examples/`, fresh at each call. */
export function example(name: string): DocumentNode {
  return JSON.parse(readFileSync(new URL(`examples/${name}.json`, ROOT), 'utf8'));
}

export const EXAMPLES: readonly string[] = readdirSync(new URL('examples/', ROOT))
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -5));

/** Folder of the shared reference material, which is not part of the repository; null if it is absent. */
export const SHARED: string | null = (() => {
  const folder = fileURLToPath(new URL('../shared/', ROOT));
  return existsSync(folder) ? folder : null;
})();

/**
 * Changes to a document: path below the root element to its new value; undefined removes. Repeated elements count from 1.
 */
export type Changes = Readonly<Record<string, DocumentValue | undefined>>;

/** The document with the changes; missing groups are created, and `[n]` one past the end appends. */
export function changed(tree: DocumentNode, changes: Changes): DocumentNode {
  const root = Object.values(tree)[0] as DocumentNode;
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split('.').flatMap((step) => step.split(/[[\]]/).filter((part) => part !== ''));
    let at: Record<string, unknown> = root;
    steps.forEach((step, index) => {
      const key = /^[0-9]+$/.test(step) ? String(Number(step) - 1) : step;
      if (index < steps.length - 1) {
        at[key] ??= /^[0-9]+$/.test(steps[index + 1]!) ? [] : {};
        at = at[key] as Record<string, unknown>;
      } else if (value === undefined) delete at[key];
      else at[key] = value;
    });
  }
  return tree;
}

/** The parts of a confirmation address. */
export interface IssuedEcf {
  encf: string;
  issuerRnc: string;
  buyerRnc: string | null;
  issued: string;
  total: string;
  signed: string;
}

/** An e-CF with only the fields of its confirmation address. */
export function issuedEcf({ encf, issuerRnc, buyerRnc, issued, total, signed }: IssuedEcf): DocumentNode {
  return {
    ECF: {
      Encabezado: {
        IdDoc: { TipoeCF: encf.slice(1, 3), eNCF: encf },
        Emisor: { RNCEmisor: issuerRnc, FechaEmision: issued },
        ...(buyerRnc === null ? {} : { Comprador: { RNCComprador: buyerRnc } }),
        Totales: { MontoTotal: total },
      },
      FechaHoraFirma: signed,
    },
  };
}
