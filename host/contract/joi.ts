import Joi from 'joi';

/**
 * The host's own joi, for modules that bring none: `import` gets it as the default, `require` as
 * the module itself.
 */
const own = Joi; // the bundler cannot export an import under two names
export { own as default, own as 'module.exports' };
