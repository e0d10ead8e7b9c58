// Reads the settings schemas of the built programs.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../setup.mjs';

function load(file) {
  return import(pathToFileURL(path.join(ROOT, file)).href);
}

export const { SERVICE_NAMES, variablePrefix } = await load('packages/contracts/dist/index.js');

/** The settings of a program (`services/emission`) by variable, from its exported zod object `<something>Settings`. */
export async function settingsOf(program) {
  const config = path.join(program, 'dist', 'config.js');
  if (!fs.existsSync(path.join(ROOT, config))) return {};
  const module = await load(config);
  const name = Object.keys(module).find((key) => key.endsWith('Settings'));
  return module[name]?.shape ?? {};
}

/** The function that reads the description of a setting. */
export async function loadSettingMeta() {
  return (await load('packages/kit/dist/config.js')).settingMeta;
}
