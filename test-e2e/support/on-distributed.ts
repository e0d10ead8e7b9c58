// Jest gives every test file an environment of its own: this one's scenarios meet the distributed deployment.
process.env.ECF_DEPLOYMENT = 'distributed';
