import { useAccount, usePlace } from '../../data/place.js';
import { useFormats } from '../../ui/format.js';

/** The title of a part of the settings, with the taxpayer that it is about. */
export function TaxpayerHeading({ title }: { title: string }) {
  const { rnc: chosen } = usePlace();
  const { rnc } = useFormats();
  const taxpayer = useAccount().data?.taxpayers.find((one) => one.rnc === chosen);
  return (
    <h2>
      {title}
      <small dir="auto">{`${taxpayer?.name ?? ''} · ${rnc(chosen)}`}</small>
    </h2>
  );
}
