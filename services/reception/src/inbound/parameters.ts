import { type AuthorityStatus, authorityStatusSchema } from '@ecf/contracts';
import { isRnc } from '@ecf/domain';
import { ApiError } from '@ecf/service-kit/errors';
import { RequestParameters } from '@ecf/service-kit/http';

/** The parameters of the listings. */
export class Parameters extends RequestParameters {
  /** `limit` 1 to 1000, default 200; `offset` from 0, default 0. */
  override page(): { limit: number; offset: number } {
    return super.page(1_000, 200);
  }

  /** Which answer of the authority the documents must have; null = any. */
  authorityStatus(): AuthorityStatus | null {
    const text = this.query('authority_status');
    if (text === null) return null;
    const known = authorityStatusSchema.safeParse(text.toLowerCase());
    if (known.success) return known.data;
    const message = `authority_status is one of ${authorityStatusSchema.options.join(', ')}`;
    this.wrong(['query', 'authority_status'], message, 'enum');
    return null;
  }

  /** For operations where the specification demands 400 instead of 422. */
  issuerRncOr400(): string {
    const text = this.query('issuer_rnc');
    if (text !== null && isRnc(text)) return text;
    throw new ApiError(
      400,
      'invalid_issuer_rnc',
      'Send issuer_rnc, the 9 or 11 digits of the RNC that issued the invoice.',
    );
  }
}
