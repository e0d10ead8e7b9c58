import type { ActedBy, Role } from '@ecf/contracts';
import type { Page } from '../edge/ports.js';

export interface Administrator {
  id: string;
  name: string;
  role: Role;
  createdAt: Date;
  expiresAt: Date | null;
}

/** The signed-in administrator; `id` is null for the holder of ADMIN_TOKEN. */
export interface SignedInAdministrator {
  id: string | null;
  name: string;
  role: Role;
}

export interface AdministratorStore {
  /** `taken` if another administrator has the name. */
  create(
    administrator: Omit<Administrator, 'createdAt'> & { hash: Buffer },
    by: ActedBy,
  ): Promise<Administrator | 'taken'>;
  list(page: Page): Promise<Administrator[]>;
  find(id: string): Promise<Administrator | null>;
  /** The administrator with this token, deleted ones included. */
  withToken(hash: Buffer): Promise<(Administrator & { deleted: boolean }) | null>;
  delete(id: string, at: Date, by: ActedBy): Promise<Administrator | null>;
}
