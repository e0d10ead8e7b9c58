import { useAccount, usePlace } from '../../data/place.js';
import { useSettingsOwner } from '../../data/settings-owner.js';
import { useFormats } from '../../ui/format.js';

/** The title of a part of the settings, with the taxpayer that it is about; an administrator's page names the taxpayer itself. */
export function TaxpayerHeading({ title }: { title: string }) {
  const { rnc: chosen } = usePlace();
  const { id } = useSettingsOwner();
  const { rnc } = useFormats();
  const taxpayer = useAccount().data?.taxpayers.find((one) => one.rnc === chosen);
  return (
    <h2>
      {title}
      {id === null && <small dir="auto">{`${taxpayer?.name ?? ''} · ${rnc(chosen)}`}</small>}
    </h2>
  );
}
