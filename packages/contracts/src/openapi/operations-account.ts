import { ownAccountSchema } from '../http/admin.js';
import { ACCOUNT_SETTINGS, type AccountSettingId } from '../http/own-operations.js';
import { json, type OperationDescription } from './description.js';
import { EXAMPLES } from './examples.js';
import { ADMIN } from './operations-admin.js';
import { PARAMETERS as P } from './parameters.js';

/** A setting as the administration describes it. Its address has no account: it is the one of the key. */
function settingOf(id: AccountSettingId): OperationDescription {
  const described: OperationDescription = ADMIN[id];
  const { parameters = [], errors = [] } = described;
  return {
    ...described,
    parameters: parameters.filter((parameter) => parameter !== P.accountId),
    errors: [...errors, 'beyond_own_rights'],
  };
}

export const ACCOUNT: Record<AccountSettingId | 'account', OperationDescription> = {
  account: {
    tag: 'Account',
    summary: 'Returns what the API key may do',
    description:
      'The account, the environments and scopes of the key, and the taxpayers that it serves: when the certificate of each ends, and what is left of its ranges.',
    parameters: [P.ownTaxpayersLimit, P.adminOffset],
    answers: {
      200: { description: 'The rights of the key.', content: json(ownAccountSchema, EXAMPLES.ownAccount) },
    },
  },
  ...(Object.fromEntries(ACCOUNT_SETTINGS.map(({ id }) => [id, settingOf(id)])) as Record<
    AccountSettingId,
    OperationDescription
  >),
};
