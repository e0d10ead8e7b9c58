/** Path prefix of the control interface. */
export const CONTROL_PATH = '/_control/';
