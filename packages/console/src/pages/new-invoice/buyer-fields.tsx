import { textOf } from '@ecf/domain';
import { useEffect } from 'react';
import { useTranslations } from 'use-intl';
import { GatewayError } from '../../data/gateway.js';
import { useDirectory } from '../../data/submission.js';
import type { Draft } from './draft.js';
import { PlacedText } from './faults.js';

const PATH = 'ECF.Encabezado.Comprador';

interface Props {
  draft: Draft;
  onChange: (buyer: Draft['buyer']) => void;
}

/** Who buys. The name is that of the authority's directory until another one is typed. */
export function BuyerFields({ draft: { type, buyer }, onChange }: Props) {
  const words = useTranslations('newInvoice');
  const rnc = textOf(buyer, 'RNCComprador') ?? '';
  const directory = useDirectory(rnc);
  const named = textOf(buyer, 'RazonSocialComprador') ?? '';
  const found = directory.data?.rnc === rnc ? directory.data.name : '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each entry found, so that the name can be changed
  useEffect(() => {
    if (found !== '' && named === '') onChange({ ...buyer, RazonSocialComprador: found });
  }, [found]);
  const unknown = directory.error instanceof GatewayError && directory.error.status === 404;
  const change = (element: string) => (text: string) => onChange({ ...buyer, [element]: text });
  const plain = (text: string) => text.replace(/[\s-]/g, '');
  return (
    <div className="form-row">
      <PlacedText
        path={`${PATH}.RNCComprador`}
        group={PATH}
        label={words('buyerRnc')}
        hint={unknown ? words('notInDirectory') : words('rncHint')}
        inputMode="numeric"
        value={rnc}
        // Another number, another name.
        onChange={(text) =>
          onChange({ ...buyer, RNCComprador: plain(text), RazonSocialComprador: named === found ? '' : named })
        }
      />
      <PlacedText
        path={`${PATH}.RazonSocialComprador`}
        label={words('buyerName')}
        hint={type === '32' ? words('anonymous') : undefined}
        value={named}
        onChange={change('RazonSocialComprador')}
      />
      <PlacedText
        path={`${PATH}.CorreoComprador`}
        label={words('buyerEmail')}
        value={textOf(buyer, 'CorreoComprador') ?? ''}
        onChange={change('CorreoComprador')}
      />
    </div>
  );
}
