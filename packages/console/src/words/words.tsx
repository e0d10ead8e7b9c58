import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { IntlProvider } from 'use-intl';
import { en } from './en/index.js';
import { es } from './es/index.js';

declare module 'use-intl' {
  interface AppConfig {
    Messages: typeof es;
  }
}

type Language = 'es' | 'en';
const STORED = 'ecf.language';
const SwitchLanguage = createContext<() => void>(() => undefined);

/** Changes between Spanish and English. */
export const useSwitchLanguage = () => useContext(SwitchLanguage);

/** Gives the pages their words: in the language that was chosen here, else that of the browser, else Spanish. */
export function Words({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(
    () => (localStorage.getItem(STORED) as Language | null) ?? (navigator.language.startsWith('en') ? 'en' : 'es'),
  );
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const other = language === 'es' ? 'en' : 'es';
  const change = () => {
    localStorage.setItem(STORED, other);
    setLanguage(other);
  };
  return (
    <SwitchLanguage value={change}>
      <IntlProvider
        locale={language === 'es' ? 'es-DO' : 'en-US'}
        messages={language === 'es' ? es : en}
        timeZone="America/Santo_Domingo"
      >
        {children}
      </IntlProvider>
    </SwitchLanguage>
  );
}
