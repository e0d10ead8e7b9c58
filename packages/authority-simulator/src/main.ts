import { readSettings, SettingRefused } from './settings.js';
import { createSimulator } from './simulator.js';

/** The simulator as a program: one JSON line on standard output when it answers; ends with its parent, or by signal. */
try {
  const simulator = await createSimulator(readSettings(process.env));
  const end = (): void => {
    simulator.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  process.once('disconnect', end);
  console.log(JSON.stringify({ ready: true, url: simulator.url }));
} catch (error) {
  console.error(error instanceof SettingRefused ? error.message : error);
  process.exitCode = 1;
}
