import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { fileOf, useInvoices } from '../../data/invoices.js';
import { useMay, usePlace } from '../../data/place.js';
import { useSettingsOwner } from '../../data/settings-owner.js';
import { Fault } from '../../ui/fault.js';
import { show } from '../../ui/files.js';

/** Opens the printed form of the last accepted document, for a look at the logo. Administrators and keys without the right to read see none. */
export function PrintedForm() {
  const { id } = useSettingsOwner();
  const mayRead = useMay('read');
  return id === null && mayRead ? <Last /> : null;
}

function Last() {
  const words = useTranslations('settings.logo');
  const place = usePlace();
  const last = useInvoices({ status: 'Aceptado' }).data?.invoices[0];
  const open = useMutation({
    mutationFn: async (encf: string) => show(await fileOf(`/invoices/${encf}/pdf`, place)),
  });
  if (last === undefined) return null;
  return (
    <>
      <button type="button" disabled={open.isPending} onClick={() => open.mutate(last.encf)}>
        {words('printed', { encf: last.encf })}
      </button>
      <Fault error={open.error} />
    </>
  );
}
