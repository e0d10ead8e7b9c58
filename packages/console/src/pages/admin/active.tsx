import { useTranslations } from 'use-intl';
import { Act } from './act.js';

/** Whether an account or a taxpayer is switched on. */
export function Active({ active }: { active: boolean }) {
  const words = useTranslations('admin.active');
  return <span className={`status ${active ? 'good' : 'bad'}`}>{words(active ? 'on' : 'off')}</span>;
}

interface SwitchProps {
  active: boolean;
  /** The object, where the page shows several. */
  of?: string;
  /** What switching it off or on does. */
  effect: string;
  change: (active: boolean) => Promise<unknown>;
}

/** Switches an account or a taxpayer on or off. */
export function Switch({ active, of, effect, change }: SwitchProps) {
  const words = useTranslations('admin.active');
  return (
    <Act
      name={words(active ? 'turnOff' : 'turnOn')}
      {...(of !== undefined && { of })}
      effect={effect}
      act={() => change(!active)}
    />
  );
}
