<?php
// Arguments: the site's folder, its URL, its theme.
define( 'WP_INSTALLING', true );
function wp_new_blog_notification() {} // there is nobody to write to
require __DIR__ . '/load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install( 'A blog', 'admin', 'admin@example.test', true, '', 'secret' );
wp_delete_post( 1, true );
switch_theme( $argv[3] );
update_option( 'permalink_structure', '/%year%/%monthnum%/%day%/%postname%/' );
update_option( 'comment_moderation', 0 );
