import type { DocumentNode } from './document-tree.js';

export function deriveRfce(_ecf: DocumentNode, _securityCode: string): DocumentNode {
  throw new Error('not available');
}
