import { type AuthorityStatus, approvalStatusSchema, authorityStatusSchema } from '@ecf/contracts';
import { isRnc } from '@ecf/domain';
import { ListingParameters } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import type { ReceivedCriteria } from './ports.js';

/** The parameters of the listings. */
export class Parameters extends ListingParameters {
  /** `limit` 1 to 1000, default 200; `offset` from 0, default 0. */
  override page(): { limit: number; offset: number } {
    return super.page(1_000, 200);
  }

  /** Which answer of the authority the documents must have; null = any. */
  authorityStatus(): AuthorityStatus | null {
    return this.word('authority_status', authorityStatusSchema.options);
  }

  /** Which documents of the period are wanted. */
  receivedCriteria(): ReceivedCriteria {
    return {
      ...this.criteria(),
      status: this.word('status', approvalStatusSchema.options),
      providerRnc: this.optionalRnc('provider_rnc'),
    };
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
